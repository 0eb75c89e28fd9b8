"""Random distortions, boxes, crops, patches and every way to resize."""

import numpy as np
import tensorflow as tf


def run(out):
    tf.set_random_seed(7)
    r = np.random.RandomState(0)
    x = tf.constant(r.rand(8, 9, 3).astype(np.float32), name="x")
    with tf.Session() as s:
        for n, t in dict(
            b=tf.image.random_brightness(x, 0.3, seed=1),
            c=tf.image.random_contrast(x, 0.5, 1.5, seed=2),
            h=tf.image.random_hue(x, 0.2, seed=3),
            s=tf.image.random_saturation(x, 0.5, 1.5, seed=4),
            lr=tf.image.random_flip_left_right(x, seed=5),
            ud=tf.image.random_flip_up_down(tf.stack([x, x, x]), seed=6),
            crop=tf.image.random_crop(x, [4, 4, 3], seed=8),
        ).items():
            out(n, s.run(t), rtol=1e-4, atol=1e-5, seeded=True)
            out.shape(n + "s", t)
        boxes = tf.constant(r.rand(1, 2, 6, 1, 4).astype(np.float32)[0])
        scores = tf.constant(r.rand(2, 6, 3).astype(np.float32))
        res = tf.image.combined_non_max_suppression(
            boxes, scores, max_output_size_per_class=2, max_total_size=4, iou_threshold=0.5, score_threshold=0.1
        )
        for i, v in enumerate(s.run(res)):
            out("cnms%d" % i, v)
        for i, v in enumerate(res):
            out.shape("cnms%ds" % i, v)
        b = tf.constant([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11.0]])
        sc = tf.constant([0.9, 0.75, 0.6, 0.95])
        out("nms", s.run(tf.image.non_max_suppression(b, sc, 3, 0.5)))
        sel, num = tf.image.non_max_suppression_padded(b, sc, 5, 0.5, pad_to_max_output_size=True)
        out("nmsp", s.run([sel, num]))
        out("nmss", s.run(tf.image.non_max_suppression_with_scores(b, sc, 3, 0.5, soft_nms_sigma=0.5)), rtol=1e-5)
        out("nmso", s.run(tf.image.non_max_suppression_overlaps(tf.eye(4) * 0.7, sc, 3, 0.5)))
        img = tf.constant(r.rand(2, 10, 12, 1).astype(np.float32))
        bx = tf.constant([[[0.1, 0.2, 0.8, 0.9]], [[0.0, 0.0, 1.0, 1.0]]])
        out("draw", s.run(tf.image.draw_bounding_boxes(img, bx)), rtol=1e-5)
        out(
            "drawc",
            s.run(tf.image.draw_bounding_boxes(tf.tile(img, [1, 1, 1, 3]), bx, colors=[[1.0, 0.0, 0.0, 1.0]])),
            rtol=1e-5,
        )
        begin, size, bb = tf.image.sample_distorted_bounding_box(
            [40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=11, min_object_covered=0.3
        )
        out("sdbb", s.run([begin, size, bb]), seeded=True)
        out(
            "crr",
            s.run(
                tf.image.crop_and_resize(
                    img,
                    [[0.1, 0.1, 0.9, 0.8], [0, 0, 1.2, 1.0]],
                    [0, 1],
                    [4, 5],
                    method="nearest",
                    extrapolation_value=2.0,
                )
            ),
            rtol=1e-5,
        )
        out(
            "glimpse",
            s.run(
                tf.image.extract_glimpse(
                    img, [4, 4], [[0.0, 0.0], [0.5, -0.5]], centered=True, normalized=True, uniform_noise=False
                )
            ),
            rtol=1e-5,
        )
        out(
            "patches", s.run(tf.image.extract_patches(img, [1, 3, 3, 1], [1, 2, 2, 1], [1, 2, 2, 1], "SAME")), rtol=1e-5
        )
        out(
            "vol",
            s.run(
                tf.extract_volume_patches(
                    tf.reshape(tf.range(64.0), [1, 4, 4, 4, 1]), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID"
                )
            ),
        )
        for m in (0, 1, 2, 3):
            for al in (False, True):
                out(
                    "rs%d%d" % (m, al),
                    s.run(tf.image.resize_images(img, [7, 5], m, align_corners=al)),
                    rtol=1e-4,
                    atol=1e-5,
                )
        out("rsp", s.run(tf.image.resize_images(img, [7, 5], preserve_aspect_ratio=True)), rtol=1e-4, atol=1e-5)
        out("rwp", s.run(tf.image.resize_image_with_pad(img, 8, 8)), rtol=1e-4, atol=1e-5)
        for m in ("bilinear", "lanczos3", "lanczos5", "bicubic", "gaussian", "nearest", "area", "mitchellcubic"):
            out("v2" + m, s.run(tf.compat.v2.image.resize(img, [7, 15], m, antialias=True)), rtol=1e-3, atol=1e-4)
    out.graph()

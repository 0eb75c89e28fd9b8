"""Colour spaces, adjustments, gradients, ssim and psnr, non-max suppression forms, draw boxes, rot90, transpose, pyramids, sobel."""

import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(4)
    im = tf.constant(rng.rand(2, 12, 12, 3), tf.float32, name="im")
    u8 = tf.constant(rng.randint(0, 255, [12, 12, 3]), tf.uint8, name="u8")
    boxes, scores = (
        tf.constant([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0.5, 2, 1, 3]], tf.float32),
        tf.constant([0.9, 0.75, 0.6, 0.95]),
    )
    I = tf.image
    vals = {
        "hsv": I.rgb_to_hsv(im),
        "rgb": I.hsv_to_rgb(im),
        "gray": I.rgb_to_grayscale(u8),
        "g2r": I.grayscale_to_rgb(im[..., :1]),
        "yiq": I.rgb_to_yiq(im),
        "yuv": I.yuv_to_rgb(im),
        "bright": I.adjust_brightness(u8, 0.2),
        "contrast": I.adjust_contrast(im, 1.7),
        "hue": I.adjust_hue(im, 0.3),
        "sat": I.adjust_saturation(u8, 0.4),
        "gamma": I.adjust_gamma(im, 0.8, 1.1),
        "std": I.per_image_standardization(u8),
        "ssim": I.ssim(im, im * 0.9, 1.0, filter_size=5),
        "msssim": I.ssim_multiscale(
            tf.image.resize(im, [64, 64]),
            tf.image.resize(im * 0.8, [64, 64]),
            1.0,
            power_factors=[0.5, 0.5],
            filter_size=5,
        ),
        "psnr": I.psnr(u8, u8 // 2, 255),
        "grads": list(I.image_gradients(im)),
        "tv": I.total_variation(im),
        "sobel": I.sobel_edges(im),
        "nms": I.non_max_suppression(boxes, scores, 3, 0.5),
        "nmsp": list(I.non_max_suppression_padded(boxes, scores, 5, 0.5, pad_to_max_output_size=True)),
        "nmss": list(I.non_max_suppression_with_scores(boxes, scores, 3, 0.5, soft_nms_sigma=0.5)),
        "nmso": I.non_max_suppression_overlaps(tf.eye(4), scores, 2),
        "comb": list(
            I.combined_non_max_suppression(boxes[None, :, None], tf.stack([scores, scores[::-1]], 1)[None], 2, 3)
        ),
        "draw": I.draw_bounding_boxes(im, tf.constant([[[0.1, 0.1, 0.8, 0.7]]] * 2)),
        "rot": I.rot90(im, 3),
        "tr": I.transpose(im),
        "crop": I.central_crop(im, 0.5),
        "padto": I.resize_image_with_crop_or_pad(u8, 9, 15),
        "respad": I.resize_image_with_pad(im, 6, 9),
        "ext": I.extract_glimpse(im, [4, 4], [[0.0, 0.0], [0.5, -0.5]]),
        "flip": I.flip_left_right(u8),
        "enc": I.decode_png(I.encode_png(u8)),
        "area": I.resize_area(im, [5, 7]),
        "near": I.resize_nearest_neighbor(im, [5, 7], align_corners=True),
        "bic": I.resize_bicubic(im, [5, 7]),
        "lanc": I.resize_bilinear(im, [24, 5], half_pixel_centers=True),
        "patch": I.extract_patches(im, [1, 3, 3, 1], [1, 4, 4, 1], [1, 2, 2, 1], "SAME"),
        "conv": I.convert_image_dtype(im, tf.int16, saturate=True),
        "bbox": list(I.sample_distorted_bounding_box([12, 12, 3], [[[0.1, 0.2, 0.9, 0.8]]], seed=3)),
    }
    names = sorted(vals)
    out(
        "static",
        {
            n: v.shape.as_list() if v.shape.ndims is not None else None
            for n, v in vals.items()
            if isinstance(v, tf.Tensor)
        },
    )
    g = tf.gradients([tf.reduce_sum(vals[n]) for n in ("ssim", "tv", "sobel", "bic", "near", "yiq")], im)
    out.raises("rank", I.rgb_to_hsv, tf.zeros([2, 2]))
    out.raises("hue depth", I.adjust_hue, tf.zeros([2, 2, 1]), 0.1)
    out.raises("fraction", I.central_crop, im, 1.5)
    out.raises("crop out", I.crop_to_bounding_box, im, 8, 8, 6, 6)
    out.raises("delta", I.random_hue, im, 0.7)
    out.raises("size", I.resize, im, [3])
    out.raises("flip rank", I.flip_up_down, tf.zeros([2]))
    with tf.Session() as sess:
        for n, v in zip(names, sess.run([vals[n] for n in names])):
            out(n, v, rtol=1e-3, atol=2e-4)
        out("grad", sess.run(g), rtol=1e-3, atol=1e-3)
    out.graph()

"""tf.signal: cosine and Fourier transforms, windows, frames, mel and MFCC."""

import numpy as np
import tensorflow as tf


def run(out):
    r = np.random.RandomState(0)
    x = tf.constant(r.randn(2, 64).astype(np.float32), name="x")
    c = tf.constant((r.randn(2, 4, 4, 4) + 1j * r.randn(2, 4, 4, 4)).astype(np.complex64))
    with tf.Session() as s:
        for t in (1, 2, 3, 4):
            for nrm in (None, "ortho"):
                try:
                    out("dct%d%s" % (t, nrm), s.run(tf.signal.dct(x, type=t, norm=nrm)), rtol=1e-3, atol=1e-3)
                except Exception as e:
                    out("dct%d%s err" % (t, nrm), type(e).__name__)
                try:
                    out("idct%d%s" % (t, nrm), s.run(tf.signal.idct(x, type=t, norm=nrm)), rtol=1e-3, atol=1e-3)
                except Exception as e:
                    out("idct%d%s err" % (t, nrm), type(e).__name__)
        out("dctn", s.run(tf.signal.dct(x, n=32)), rtol=1e-3, atol=1e-3)
        for n, f in dict(
            fft=tf.signal.fft,
            fft2d=tf.signal.fft2d,
            fft3d=tf.signal.fft3d,
            ifft=tf.signal.ifft,
            ifft2d=tf.signal.ifft2d,
            ifft3d=tf.signal.ifft3d,
        ).items():
            out(n, s.run(f(c)), rtol=1e-3, atol=1e-3)
        rr = tf.real(c)
        out("rfft3d", s.run(tf.signal.rfft3d(rr, [4, 6, 3])), rtol=1e-3, atol=1e-3)
        out("irfft3d", s.run(tf.signal.irfft3d(c)), rtol=1e-3, atol=1e-3)
        out("irfft3dl", s.run(tf.signal.irfft3d(c, [3, 4, 5])), rtol=1e-3, atol=1e-3)
        for p in (True, False):
            out("ham%s" % p, s.run(tf.signal.hamming_window(9, periodic=p)), rtol=1e-5)
            out("hann%s" % p, s.run(tf.signal.hann_window(10, periodic=p, dtype=tf.float64)), rtol=1e-5, atol=1e-9)
        out("frame", s.run(tf.signal.frame(x, 10, 7, pad_end=True, pad_value=1.5)))
        out("frame2", s.run(tf.signal.frame(x, 10, 7, axis=0, pad_end=True)))
        f = tf.signal.frame(x, 16, 8)
        out.shape("frames", f)
        out("ola", s.run(tf.signal.overlap_and_add(f, 8)), rtol=1e-5)
        st = tf.signal.stft(x, 16, 8, fft_length=32, pad_end=True)
        out.shape("stft s", st)
        out("stft", s.run(st), rtol=1e-3, atol=1e-3)
        out(
            "istft",
            s.run(
                tf.signal.inverse_stft(tf.signal.stft(x, 16, 8), 16, 8, window_fn=tf.signal.inverse_stft_window_fn(8))
            ),
            rtol=1e-3,
            atol=1e-3,
        )
        m = tf.signal.linear_to_mel_weight_matrix(10, 17, 8000, 60.0, 3800.0)
        out("mel", s.run(m), rtol=1e-3, atol=1e-4)
        out(
            "mfcc",
            s.run(tf.signal.mfccs_from_log_mel_spectrograms(tf.log(tf.abs(x[:, :20]) + 1))),
            rtol=1e-3,
            atol=1e-3,
        )
        g = tf.gradients(tf.reduce_sum(tf.abs(st) ** 2), x)[0]
        out("slope", s.run(g), rtol=1e-3, atol=1e-2)
        p = tf.placeholder(tf.float32, [None, None], name="p")
        fo = tf.signal.frame(p, 5, 2)
        out.shape("open", fo)
        out("openv", s.run(fo, {p: np.arange(24).reshape(2, 12)}))
        so = tf.signal.stft(p, 8, 4)
        out.shape("openstft", so)
    out.graph()
    out.raises("err type", tf.signal.dct, x, 5)
    out.raises("err ola", tf.signal.overlap_and_add, tf.zeros([3]), 2)
    out.raises("err frame", tf.signal.frame, tf.constant(3.0), 2, 1)
    out.raises("err mel", tf.signal.linear_to_mel_weight_matrix, 10, 17, 8000, -1.0, 3800.0)

"""Several hooks at once with feeds, final ops and stops; NaN losses; step functions; a Supervisor."""

import os
import tempfile

import tensorflow as tf


def run(out):
    d = tempfile.mkdtemp()
    log = []

    class H(tf.train.SessionRunHook):
        def __init__(self, n):
            self.n = n

        def begin(self):
            log.append(self.n + " begin")

        def after_create_session(self, s, c):
            log.append(self.n + " created")

        def before_run(self, ctx):
            log.append(
                self.n
                + " before %s" % (len(ctx.original_args.fetches) if isinstance(ctx.original_args.fetches, list) else 1)
            )
            return tf.train.SessionRunArgs({"g": tf.train.get_global_step()}, feed_dict=None)

        def after_run(self, ctx, v):
            log.append(self.n + " after %d" % v.results["g"])
            ctx.request_stop() if v.results["g"] >= 3 and self.n == "b" else None

        def end(self, s):
            log.append(self.n + " end %d" % s.run(tf.train.get_global_step()))

    with tf.Graph().as_default() as g:
        gs = tf.train.get_or_create_global_step()
        inc = tf.assign_add(gs, 1)
        x = tf.placeholder(tf.float32, [], name="x")
        loss = tf.cast(inc, tf.float32) * x
        fin = tf.train.FinalOpsHook([gs, loss], {x: 2.0})
        feed = tf.train.FeedFnHook(lambda: {x: 1.5})
        tf.summary.scalar("l", loss)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=d,
            hooks=[
                H("a"),
                H("b"),
                fin,
                feed,
                tf.train.StopAtStepHook(last_step=10),
                tf.train.LoggingTensorHook({"l": loss}, every_n_iter=2),
                tf.train.NanTensorHook(loss),
            ],
            save_checkpoint_steps=2,
            save_summaries_steps=None,
            save_summaries_secs=None,
            log_step_count_steps=None,
        ) as s:
            vals = []
            while not s.should_stop():
                vals.append(s.run(loss))
        out("vals", vals)
        out("final", fin.final_ops_values)
    out("log", log)
    out("files", sorted(f for f in os.listdir(d) if not f.startswith("events")))
    out("ckpt", [os.path.basename(p) for p in tf.train.get_checkpoint_state(d).all_model_checkpoint_paths])
    out(
        "exists",
        [
            tf.train.checkpoint_exists(os.path.join(d, "model.ckpt-2")),
            tf.train.checkpoint_exists(os.path.join(d, "nope")),
        ],
    )
    tf.train.remove_checkpoint(os.path.join(d, "model.ckpt-0"))
    out("files2", sorted(f for f in os.listdir(d) if not f.startswith("events")))
    out("gen", str(tf.train.generate_checkpoint_state_proto("/tmp/zz", "/tmp/zz/m-2", ["/tmp/zz/m-1", "/tmp/zz/m-2"])))
    it = tf.train.checkpoints_iterator(d, timeout=0)
    out("iter", [os.path.basename(next(it))])
    with tf.Graph().as_default():
        gs = tf.train.get_or_create_global_step()
        inc = tf.assign_add(gs, 1)
        bad = tf.log(tf.cast(inc, tf.float32) - 2.0)

        def go():
            with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(bad)]) as s:
                for _ in range(4):
                    s.run([bad, inc])

        out.raises("err nan", go)

        def go2():
            with tf.train.SingularMonitoredSession(hooks=[tf.train.NanTensorHook(bad, fail_on_nan_loss=False)]) as s:
                n = 0
                while not s.should_stop():
                    s.run([bad, inc])
                    n += 1
            return n

        out("nan stop", go2())

        def f(step_context):
            step_context.request_stop() if step_context.session.run(gs) >= 2 else None
            return step_context.run_with_hooks(inc)

        with tf.train.MonitoredSession() as s:
            out("step fn", [s.run_step_fn(f), s.run_step_fn(f), s.should_stop(), s.run_step_fn(f), s.should_stop()])
        out.raises("err wait", tf.train.MonitoredTrainingSession, hooks=3)
        out.raises(
            "err finalize",
            lambda: tf.train.MonitoredSession(tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=tf.no_op()))),
        )
        sv_dir = tempfile.mkdtemp()
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        gs = tf.train.get_or_create_global_step()
        up = tf.group(v.assign_add(2.0), tf.assign_add(gs, 1))
        sv = tf.train.Supervisor(logdir=sv_dir, save_model_secs=0, summary_op=None)
        with sv.managed_session() as s:
            for _ in range(3):
                s.run(up)
            out("sv", [s.run(v), sv.should_stop()])
            sv.saver.save(s, sv.save_path, global_step=sv.global_step)
            sv.request_stop()
        out("svf", sorted(f for f in os.listdir(sv_dir) if not f.startswith("events")))

    def loop(sess, *args):
        log.append("loop")
        loop.n += 1
        return None

"""tensorflow.python.autograph.impl: functions converted and called."""

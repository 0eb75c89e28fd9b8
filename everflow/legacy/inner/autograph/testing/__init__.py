"""tensorflow.python.autograph.pyct.testing: functions that tests take apart."""

"""tensorflow.python.autograph.lang: functions that programs call for the conversion to see."""

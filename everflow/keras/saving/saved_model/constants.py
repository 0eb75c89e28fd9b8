"""Names in SavedModels of Keras."""

# The attribute of a layer that holds what only Keras reads.
KERAS_ATTR = "keras_api"
# Where that is kept while a model is saved.
KERAS_CACHE_KEY = "keras_serialized_attributes"

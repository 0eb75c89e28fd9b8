"""Images: files, color, sizes, boxes."""

// LinkHandler

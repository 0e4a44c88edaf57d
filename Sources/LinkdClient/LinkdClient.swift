// LinkdClient

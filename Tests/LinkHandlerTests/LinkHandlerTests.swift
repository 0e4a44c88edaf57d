// LinkHandlerTests

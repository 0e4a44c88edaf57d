// AppConfiguration

// AppConfigurationTests

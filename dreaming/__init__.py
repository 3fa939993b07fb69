"""What happens at night: light, REM and deep sleep over the recall store of one workspace."""

"""The flights that left New York in 2013, kept up to date while the last month arrives hour by hour."""

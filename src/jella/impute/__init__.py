"""How missing values are predicted: several predictors, weighed and calibrated on hidden values, with intervals."""

"""What is computed about a fitted model or result, without drawing."""

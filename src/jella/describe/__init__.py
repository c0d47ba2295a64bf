"""What is computed about a fitted model and its data, for reports, tables and plots; nothing is drawn in this room."""

"""The chapters and the manuscript on the screen."""

"""Packages of others, as they are: for Pythons that lack what is in them."""

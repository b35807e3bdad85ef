"""Memories made by a language model that the user runs or names: asked, budgeted, and checked before it is believed."""

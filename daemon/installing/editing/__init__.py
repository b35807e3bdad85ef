"""Edits of other programs' files that change only what they must: comments, order, indentation and line ends stay."""

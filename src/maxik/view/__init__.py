"""A baked scene as a page to look at: `render_page` of page.py; what it shows is gathered in data.py."""

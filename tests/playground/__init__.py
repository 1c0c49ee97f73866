"""The playground: its folder and server, and its pages in a browser."""

"""The page of ``redac explore``: a server of this machine that fits what the page asks for."""

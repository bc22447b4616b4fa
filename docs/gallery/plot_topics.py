"""
Topics: what Python's own documentation is about
================================================

The standard library explains itself in thousands of docstrings. Each of them is a document here,
and the matrix of documents and words is sparse: nearly all of its entries are zero. Components of
a few words each are topics.
"""

import importlib
import inspect
import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from redac import SparsePCA
from redac.plots import plot_loadings

modules = """
    argparse ast asyncio calendar collections configparser csv ctypes datetime decimal email.message
    fractions http.client imaplib io logging mailbox math multiprocessing.pool os pathlib pickle
    random shutil smtplib socket statistics string subprocess tarfile tempfile threading turtle
    unittest urllib.request xml.dom.minidom zipfile
""".split()


def docstrings(module):
    """The docstrings of the public functions, classes and methods of a module."""
    for owner in [module, *(each for _, each in inspect.getmembers(module, inspect.isclass))]:
        for name, each in inspect.getmembers(owner):
            text = inspect.getdoc(each) if callable(each) and name[0] != "_" else None
            if text and len(text.split()) > 8:
                yield text


warnings.simplefilter("ignore", DeprecationWarning)  # of old names in the modules
source = {}
for name in modules:
    try:
        source |= dict.fromkeys(docstrings(importlib.import_module(name)), name)
    except ImportError:  # turtle needs tkinter, which not every Python has
        continue
documents = sorted(source)
vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.2, sublinear_tf=True)
counts = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()
stored = 100 * counts.nnz / np.prod(counts.shape)
print(f"{counts.shape[0]} documents, {counts.shape[1]} words, {stored:.1f} % of the cells not zero")

# %%
# Six topics of seven words each. The matrix is centred in the computation, but never filled.

model = SparsePCA(n_components=6, cardinality=7).fit(counts, feature_names=words)
for number, topic in enumerate(model.top_features(7), start=1):
    print(f"PC{number}: {', '.join(topic)}")

# %%
# The words of a topic have weights.

_ = plot_loadings(model)

# %%
# Where do the topics come from? The fit knew nothing of modules; here are the two whose documents
# have the largest mean score.

scores = model.transform(counts)
origin = np.array([source[text] for text in documents])
names = sorted(set(origin))
means = np.array([scores[origin == name].mean(axis=0) for name in names])
for number, column in enumerate(means.T, start=1):
    first, second = np.argsort(-column)[:2]
    print(f"PC{number}: {names[first]} and {names[second]}")

# %%
# **Conclusion.** ``top_features`` names what a component is about, and the modules confirm it.
# Components are found from counts alone: words of one topic stand together because docstrings that
# use one of them use the others, not because of what they mean. The output depends on the version
# of Python, whose docstrings change.

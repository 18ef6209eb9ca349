"""
Prediction instability of a clinical risk model
===============================================

A risk model is trained again on bootstrap samples of its 442 patients. Each line shows the risks
that one patient gets from models that were trained without this patient. Many lines reach from low
to high (Riley and Collins 2023).
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skboot import BootstrapScorer
from skboot.plots import PredictionInstabilityDisplay

X, y = load_diabetes(return_X_y=True)
model = make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=1000))
scorer = BootstrapScorer(
    model, scoring="neg_brier_score", strategy="oob", n_train_resamples=100, random_state=0
)
scorer.fit(X, y > 140)
print(scorer.result_)
picture = PredictionInstabilityDisplay.from_scorer(scorer)

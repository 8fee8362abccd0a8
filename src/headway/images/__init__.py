"""Pictures: their patches through the trunk, or a small convolutional network; a class out."""

VERBS = {
    "train": "headway.images.spec:SPEC",
    "predict lines": "headway.images.predicting:PictureClassifier",
    "evaluate": "headway.commands.labelling:evaluate_labelled",
    "evaluate labels": "headway.images.predicting:evaluated",
    "inspect page": "headway.inspection.picture_page:page_of_picture",
}

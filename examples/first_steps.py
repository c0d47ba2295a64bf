"""Few lines that do the job: digits in three views with missing values; cluster, complete, place new samples."""

import jella

digits = jella.datasets.load_digits_views(500)  # three views of handwritten digits
views = jella.datasets.make_incomplete(digits.data, 0.3, "incomplete-view", random_state=0)  # make holes: NaN

found = jella.cluster(views, n_clusters=10)  # leave n_clusters out, and it is chosen
print(found)

done = jella.complete(views, interval=0.9)  # done.views: NaN replaced, observed values untouched
print(done)

new = {"pixels": digits.data["pixels"][:5]}  # five samples with one view of three
print(found.model.predict(new))

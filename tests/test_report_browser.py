"""The report in a browser: it draws, answers to mouse and keyboard, and loads nothing."""

from __future__ import annotations

import csv
import shutil
from itertools import pairwise

import numpy as np
import pytest

import jella
from jella.report import write_report

#: a script's first lines: the cluster of each sample
CLUSTER_OF = "const clusterOf = JSON.parse(document.getElementById('data-points').textContent).colourings[0].values;"
HOSTILE = '</script><img src="x"><b>&lt;'


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Headless Chromium; files that it saves go to its folder."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or shutil.which("chromedriver") is None:
        pytest.skip("no Chromium with its chromedriver on this machine (Debian: apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.folder = tmp_path_factory.mktemp("downloads")
    driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(driver.folder)})
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with every section, on digits in three views."""
    digits = jella.datasets.load_digits_views()
    some = {f"{name}{HOSTILE}": view[:150] for name, view in digits.data.items()}
    views = jella.datasets.make_incomplete(some, 0.3, random_state=0)
    model = jella.SparseBDR(10, random_state=0).fit(views)
    columns = {"position": np.arange(150.0), HOSTILE: [HOSTILE, "plain"] * 75}
    file = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(file, model, views, metadata=columns, labels=digits.target[:150], title=HOSTILE)


@pytest.fixture
def page(driver, report):
    """The report, opened from its file in a window of a desktop's width, light."""
    show(driver, report, width=1100)
    return driver


def show(driver, report, *, width, scheme="light"):
    """Open the report and wait until everything is drawn."""
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    wanted = [{"name": name, "value": value} for name, value in features.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(report.as_uri())
    until(driver, "return document.documentElement.dataset.ready === 'true'")


def until(driver, script):
    """Wait until a script gives something true, and return that."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 20).until(lambda d: d.execute_script(script))


def saved(driver, name):
    """The text of a file that the page saves, once it is there."""
    from selenium.webdriver.support.ui import WebDriverWait

    file = driver.folder / name
    WebDriverWait(driver, 20).until(lambda _: file.exists() and file.stat().st_size > 0)
    text = file.read_text(encoding="utf-8")
    file.unlink()
    return text


def choose(driver, select, value):
    """Choose an option as a user does."""
    from selenium.webdriver.support.ui import Select

    Select(driver.find_element("id", select)).select_by_visible_text(value)


def colours(driver):
    """Colours of the text and of the first plot's labels."""
    script = "return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])"
    return [
        driver.execute_script(script, "body", "background-color"),
        driver.execute_script(script, "#plot-embedding .xtitle", "fill"),
    ]


def test_everything_is_drawn_without_errors_and_without_a_network(page):
    assert page.get_log("browser") == []
    plots = "return [...document.querySelectorAll('div.plot')]"
    assert page.execute_script(f"{plots}.filter((p) => !p.querySelector('.main-svg')).map((p) => p.id)") == []
    assert page.execute_script(f"{plots}.length") >= 10
    assert page.execute_script("return document.querySelectorAll('#plot-embedding .point').length") == 150
    assert page.execute_script("return document.querySelectorAll('#plot-embedding .annotation').length") == 10
    assert page.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    assert page.execute_script("return document.images.length") == 0
    assert page.title == HOSTILE


def test_a_point_tells_its_sample_when_hovered(page):
    from selenium.webdriver.common.action_chains import ActionChains

    point = page.execute_script(
        "const p = document.querySelector('#plot-embedding .point'); p.scrollIntoView({block: 'center'}); return p"
    )
    ActionChains(page).move_to_element(point).perform()
    words = until(page, "const t = document.querySelector('#plot-embedding .hovertext'); return t && t.textContent")
    assert "cluster: " in words
    assert "views present: " in words
    assert "position: " in words
    assert HOSTILE in words


def test_the_colour_is_switched_from_the_keyboard(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    legend = "return [...document.querySelectorAll('#plot-embedding .legendtext')].map((t) => t.textContent)"
    assert page.execute_script(legend) == []  # clusters have labels on the map
    select = page.find_element(By.ID, "colour-by")
    names = [option.text for option in select.find_elements(By.TAG_NAME, "option")]
    assert names == ["cluster", "views present", "given label", "position", HOSTILE]
    select.send_keys(Keys.END)
    until(page, "return document.querySelectorAll('#plot-embedding .legendtext').length === 2")
    assert page.execute_script(legend) == [HOSTILE, "plain"]
    select.send_keys(Keys.ARROW_UP)
    assert until(page, "return document.querySelectorAll('#plot-embedding .colorbar').length === 1")
    ends = [
        page.execute_script(f"return document.querySelector('#plot-embedding {part}').getBoundingClientRect().{end}")
        for part, end in ((".modebar", "bottom"), (".cbtitle text", "top"))
    ]
    assert ends[0] <= ends[1]
    assert page.get_log("browser") == []


def test_the_theme_follows_the_system_and_the_button(driver, report):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    show(driver, report, width=1100, scheme="dark")
    dark = colours(driver)
    button = driver.find_element(By.ID, "theme")
    assert button.text == "Light"
    button.send_keys(Keys.ENTER)
    until(driver, "return document.documentElement.dataset.theme === 'light'")
    light = colours(driver)
    assert button.text == "Dark"
    assert all(one != other for one, other in zip(dark, light, strict=True))
    show(driver, report, width=1100)
    assert colours(driver) == light


@pytest.mark.parametrize("width", [390, 1100])
def test_the_page_is_no_wider_than_its_window(driver, report, width):
    show(driver, report, width=width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    wide = (
        "return [...document.querySelectorAll('.main-svg')].filter((s) => !s.closest('.wide-plot') && "
        "s.getBoundingClientRect().right > innerWidth).map((s) => s.closest('.plot').id)"
    )
    assert driver.execute_script(wide) == []
    seen = "[...document.querySelectorAll('.table')].filter((t) => !t.closest('details:not([open])'))"
    cues = f"return {seen}.map((t) => [t.querySelector('.scroll'), t])"
    honest = f"{cues}.every(([s, t]) => t.classList.contains('more') === (s.scrollWidth > s.clientWidth + 4))"
    assert until(driver, honest)
    if width < 600:
        assert driver.execute_script("return document.querySelectorAll('.table.more').length > 0")


def test_the_page_can_be_read_without_seeing_it(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    levels = page.execute_script(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    unnamed = "return [...document.querySelectorAll('div.plot')].filter((p) => !p.getAttribute('aria-label')).length"
    assert page.execute_script(unnamed) == 0
    assert page.execute_script("return document.documentElement.lang") == "en"
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the report"


def test_it_prints_light_and_unfolded(driver, report):
    show(driver, report, width=1100, scheme="dark")
    folded = "return document.querySelectorAll('details:not([open]):not(.screen)').length"
    before = driver.execute_script(folded)
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert before > 0
    assert driver.execute_script(folded) == 0
    assert driver.execute_script("return document.documentElement.dataset.theme") == "light"
    size = "return document.getElementById('plot-heat').layout.xaxis.tickfont.size"
    assert driver.execute_script(size) == 7
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    assert driver.execute_script(size) == 10
    assert driver.execute_script(folded) == before
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"


def test_a_cluster_is_highlighted_everywhere_and_from_anywhere(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    def state():
        return page.execute_script(
            """
            const paths = [...document.querySelectorAll('#plot-sizes .point path')];
            const bars = paths.map((p) => Number(p.style.opacity || 1));
            const dots = document.querySelectorAll('#plot-embedding .point');
            return {
              bars: bars.map((one) => one > 0.5),
              bright: [...dots].filter((p) => Number(p.style.opacity) > 0.5).length,
              cards: [...document.querySelectorAll('.card')].map((c) => c.classList.contains('faded')),
              labels: document.querySelectorAll('#plot-embedding .annotation').length,
              frames: document.querySelectorAll('#plot-heat .shapelayer path, #plot-affinity .shapelayer path').length,
            }
            """
        )

    before = state()
    assert before["bright"] == 150
    sizes = page.execute_script("return JSON.parse(document.getElementById('data-clusters').textContent).sizes")
    choose(page, "highlight", "Cluster 3")
    until(page, "return document.querySelectorAll('#plot-embedding .annotation').length === 1")
    found = state()
    assert found["bright"] == sizes[3]
    assert found["bars"] == [i == 3 for i in range(10)]
    assert found["cards"] == [i != 3 for i in range(10)]
    assert found["frames"] == before["frames"] + 2
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert state() == before
    page.find_elements(By.CSS_SELECTOR, ".pick")[5].send_keys(Keys.ENTER)
    assert state()["cards"] == [i != 5 for i in range(10)]
    bar = page.execute_script(
        "const p = document.querySelectorAll('#plot-sizes .point')[2]; p.scrollIntoView({block: 'center'}); return p"
    )
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).move_to_element(bar).click().perform()
    assert until(page, "return document.getElementById('highlight').value === '2'")
    assert page.get_log("browser") == []


def test_the_map_is_switched_and_the_colours_of_clusters_stay(page):
    colour = f"""{CLUSTER_OF}
        const [first] = document.getElementById('plot-embedding').data;
        const fills = [...document.querySelectorAll('#plot-embedding .point')].map((p) => p.style.fill);
        return [...new Set(first.customdata.map((row, j) => `${{clusterOf[row]}} ${{fills[j]}}`))].sort();
    """
    bars = "return [...document.querySelectorAll('#plot-sizes .point path')].map((p) => p.style.fill)"
    axis = "return document.querySelector('#plot-embedding .xtitle').textContent"
    own = page.execute_script(colour)
    assert own == [f"{i} {fill}" for i, fill in enumerate(page.execute_script(bars))]
    names = page.execute_script("return [...document.querySelectorAll('#map option')].map((o) => o.textContent)")
    assert {"PCA", "t-SNE"} <= set(names)
    for name, title in (("PCA", "PC1 "), ("t-SNE", "t-SNE 1")):
        choose(page, "map", name)
        until(page, f"{axis}.startsWith('{title}')")
        assert page.execute_script(colour) == own


def test_groups_are_drawn_in_mixed_order_and_selected_from_the_legend(page):
    order = "return document.getElementById('plot-embedding').data[0].customdata.map((row) => clusterOf[row])"
    clusters = page.execute_script(CLUSTER_OF + order)
    assert len(set(clusters[-40:])) > 6
    choose(page, "colour-by", HOSTILE)
    until(page, "return document.querySelectorAll('#plot-embedding .legendtext').length === 2")
    page.execute_script("document.querySelector('#plot-embedding .legend').scrollIntoView({block: 'center'})")
    page.find_elements("css selector", "#plot-embedding .legendtoggle")[1].click()
    listed = "return document.getElementById('selected').value.split('\\n').filter(Boolean)"
    assert until(page, listed) == [str(i) for i in range(1, 150, 2)]
    assert page.execute_script("return document.getElementById('group').selectedOptions[0].text") == "plain"
    assert page.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 1100])
def test_names_of_groups_are_within_the_map(driver, report, width):
    show(driver, report, width=width)
    ends = """
        const [svg, axis] = ['.main-svg', '.xtitle'].map((part) =>
          document.querySelector(`#plot-embedding ${part}`).getBoundingClientRect());
        const names = [...document.querySelectorAll('#plot-embedding .legendtext')];
        const boxes = names.map((name) => name.getBoundingClientRect());
        return names.length && boxes.every((one) =>
          one.right <= svg.right && one.bottom <= svg.bottom && one.top >= axis.bottom);
    """
    for name in ("views present", "given label", HOSTILE):
        choose(driver, "colour-by", name)
        assert until(driver, ends)


def test_samples_are_selected_by_lasso_group_and_name(page):
    from selenium.webdriver.common.action_chains import ActionChains

    listed = "return document.getElementById('selected').value.split('\\n').filter(Boolean)"
    page.execute_script("document.getElementById('lasso').click(); window.scrollTo(0, 0)")
    place = page.execute_script(
        "const p = document.querySelector('#plot-embedding .nsewdrag'); p.scrollIntoView({block: 'center'}); return p"
    )
    box = place.size
    x, y = box["width"] / 2 - 5, box["height"] / 2 - 5
    drag = ActionChains(page, duration=50).move_to_element_with_offset(place, -x, -y).click_and_hold()
    for dx, dy in ((2 * x, 0), (0, 2 * y), (-2 * x, 0), (0, -1.9 * y)):
        drag.move_by_offset(int(dx), int(dy))
    drag.release().perform()
    assert 100 < len(until(page, listed)) <= 150
    page.execute_script("document.getElementById('clear').click()")
    assert page.execute_script(listed) == []
    sizes = page.execute_script("return JSON.parse(document.getElementById('data-clusters').textContent).sizes")
    choose(page, "group", "Cluster 1")
    assert len(page.execute_script(listed)) == sizes[1]
    page.find_element("id", "save-selected").click()
    rows = list(csv.reader(saved(page, "samples.csv").splitlines()))
    assert rows[0][:2] == ["sample", "cluster"]
    assert [row[0] for row in rows[1:]] == page.execute_script(listed)
    assert {row[1] for row in rows[1:]} == {"Cluster 1"}
    page.find_element("id", "find").send_keys("14")
    assert page.execute_script(listed) == ["14", "114", *(str(i) for i in range(140, 150))]
    page.find_element("id", "copy").click()
    assert until(page, "return document.getElementById('said').textContent") == "12 names copied."
    assert page.get_log("browser") == []


def test_names_of_clusters_are_kept_in_a_saved_page(page):
    from selenium.webdriver.common.keys import Keys

    field = page.find_elements("css selector", "input.rename")[4]
    field.send_keys(HOSTILE, Keys.TAB)
    names = "return [...document.querySelectorAll('[data-name-of=\"4\"]')].map((p) => p.textContent)"
    assert set(until(page, names)) == {HOSTILE}
    assert page.execute_script("return document.querySelector('#plot-sizes .xtick:nth-of-type(5)').textContent") != "4"
    page.find_element("id", "save-page").click()
    until(page, "return true")
    text = saved(page, "report.html")
    file = page.folder / "named.html"
    file.write_text(text, encoding="utf-8")
    show(page, file, width=1100)
    assert set(page.execute_script(names)) == {HOSTILE}
    assert page.find_elements("css selector", "input.rename")[4].get_attribute("value") == HOSTILE
    assert page.execute_script("return document.querySelectorAll('#plot-embedding .point').length") == 150
    assert page.execute_script("return document.querySelectorAll('#plot-embedding .main-svg').length") <= 3
    assert page.get_log("browser") == []


def test_every_table_is_saved_as_csv(page):
    tables = page.execute_script("return document.querySelectorAll('table').length")
    buttons = page.find_elements("css selector", "button.csv")
    assert len(buttons) == tables >= 6
    page.execute_script("arguments[0].click()", buttons[0])
    rows = list(csv.reader(saved(page, "clusters.csv").splitlines()))
    assert rows[0][:3] == ["cluster", "features", "samples"]
    assert [row[0] for row in rows[1:]] == [f"Cluster {i}" for i in range(10)]
    assert sum(int(row[2]) for row in rows[1:]) == 150


def test_every_control_and_plot_is_reached_from_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    wanted = page.execute_script(
        """
        document.querySelectorAll('details').forEach((d) => { d.open = true; });
        const kinds = 'button, select, input, textarea, summary, a[href], div.plot, div.scroll[tabindex]';
        const all = document.querySelectorAll(kinds);
        const seen = [...all].filter((one) => one.getClientRects().length && !one.closest('.modebar'));
        seen.forEach((one, i) => { one.dataset.stop = i; });
        window.reached = [];
        addEventListener('focusin', (event) => window.reached.push(event.target.dataset.stop));
        return seen.map((one) => one.dataset.stop);
        """
    )
    page.find_element("tag name", "body").send_keys(Keys.NULL)
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page, duration=0).send_keys(Keys.TAB * (len(wanted) + 5)).perform()
    reached = set(page.execute_script("return window.reached"))
    assert set(wanted) - reached == set()
    plot = page.find_element("id", "plot-sizes")
    page.execute_script("arguments[0].focus()", plot)
    ActionChains(page).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    assert "samples" in until(page, "return document.getElementById('said').textContent")
    ActionChains(page).send_keys(Keys.ENTER).perform()
    assert page.execute_script("return document.getElementById('highlight').value") == "1"
    assert page.get_log("browser") == []


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A report on forty clusters."""
    views = {name: view[:400] for name, view in jella.datasets.load_digits_views().data.items()}
    model = jella.SparseBDR(40, evidence=False, random_state=0).fit(views)
    return write_report(tmp_path_factory.mktemp("crowded") / "report.html", model, views, held_out=False)


#: pairs of the elements of a selector whose boxes share more than a pixel
SHARED = """
const boxes = [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect());
const share = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]) > 1;
return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(
  (b) => share(a, b, "left", "right") && share(a, b, "top", "bottom")
)).length;
"""


@pytest.mark.parametrize("width", [390, 1100])
def test_many_clusters_have_labels_and_ticks_that_do_not_lie_on_each_other(driver, crowded, width):
    show(driver, crowded, width=width)
    labels = "return document.querySelectorAll('#plot-embedding .annotation').length"
    assert 8 < driver.execute_script(labels) <= 40
    assert driver.execute_script(SHARED, "#plot-embedding .annotation .bg") == 0
    for name in ("sizes", "silhouettes"):
        ticks = driver.execute_script(f"return document.querySelectorAll('#plot-{name} .xtick').length")
        assert 10 <= ticks <= 40
        assert (ticks == 40) == (width > 600)
        assert driver.execute_script(SHARED, f"#plot-{name} .xtick text") == 0
    for side in "xy":
        assert driver.execute_script(f"return document.querySelectorAll('#plot-affinity .{side}tick').length") >= 6
        assert driver.execute_script(SHARED, f"#plot-affinity .{side}tick text") == 0
    choose(driver, "highlight", "Cluster 39")  # the smallest one
    until(driver, f"{labels} === 1")
    assert driver.execute_script("return document.querySelector('#plot-embedding .annotation').textContent") == "39"
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 1100])
def test_the_words_of_a_scale_do_not_lie_on_its_numbers(driver, crowded, width):
    show(driver, crowded, width=width)
    ids = driver.execute_script(
        "return [...document.querySelectorAll('div.plot')].filter((p) => p.querySelector('.colorbar')).map((p) => p.id)"
    )
    assert {"plot-heat", "plot-affinity", "plot-variance"} <= set(ids)
    aside = """
        const place = document.getElementById(arguments[0]);
        const [numbers, words] = ['.cbaxis text', '.cbtitle text'].map((part) =>
          [...place.querySelectorAll(part)].map((one) => one.getBoundingClientRect()));
        return words.length && numbers.every((one) => words.every((two) => one.top > two.bottom - 5));
    """
    assert [name for name in ids if not driver.execute_script(aside, name)] == []


def test_clusters_differ_in_marker_too(page):
    look = f"""{CLUSTER_OF}
        const [first] = document.getElementById('plot-embedding').data;
        return [...new Set(first.customdata.map((row, j) => `${{clusterOf[row]}} ${{first.marker.symbol[j]}}`))];
    """
    pairs = [pair.split() for pair in page.execute_script(look)]
    assert len(pairs) == len({symbol for _, symbol in pairs}) == 10


def test_a_long_table_shows_that_it_goes_on(driver, crowded):
    show(driver, crowded, width=1100)
    down = "return document.querySelector('#clusters .table').classList.contains('down')"
    assert until(driver, down)
    driver.execute_script("document.querySelector('#clusters .scroll').scrollTo(0, 1e6)")
    assert until(driver, f"{down} === false")


def test_of_many_clusters_the_open_cards_are_printed(driver, crowded):
    show(driver, crowded, width=1100)
    count = "return [...document.querySelectorAll('.card')].filter((c) => c.getClientRects().length).length"
    assert driver.execute_script(count) == 40
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.execute_script(count) == 6
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_saved_numbers_are_read_as_numbers(page):
    names = page.execute_script("return [...document.querySelectorAll('button.csv')].map((b) => b.ariaLabel)")
    place = names.index("Save as CSV: Features that distinguish clusters")
    page.execute_script("document.querySelectorAll('button.csv')[arguments[0]].click()", place)
    rows = list(csv.DictReader(saved(page, "features-that-distinguish-clusters.csv").splitlines()))
    values = [float(row["difference"]) for row in rows]
    assert min(values) < 0 < max(values)

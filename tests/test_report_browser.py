"""The report in a browser: it draws, answers to mouse and keyboard, and loads nothing."""

from __future__ import annotations

import shutil
from itertools import pairwise

import numpy as np
import pytest

import jella
from jella.report import write_report

HOSTILE = '</script><img src="x"><b>&lt;'


@pytest.fixture(scope="module")
def driver():
    """Headless Chromium."""
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
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(report.as_uri())
    until(driver, "return document.documentElement.dataset.ready === 'true'")


def until(driver, script):
    """Wait until a script gives something true, and return that."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 60).until(lambda d: d.execute_script(script))


def colours(driver):
    """Colours of the text and of the first plot's labels."""
    script = "return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])"
    return [
        driver.execute_script(script, "body", "background-color"),
        driver.execute_script(script, "#plot-embedding .xtick text", "fill"),
    ]


def test_everything_is_drawn_without_errors_and_without_a_network(page):
    assert page.get_log("browser") == []
    plots = "return [...document.querySelectorAll('div.plot')]"
    assert page.execute_script(f"{plots}.filter((p) => !p.querySelector('.main-svg')).map((p) => p.id)") == []
    assert page.execute_script(f"{plots}.length") >= 10
    assert page.execute_script("return document.querySelectorAll('#plot-embedding .point').length") == 150
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
    assert page.execute_script(legend) == [str(cluster) for cluster in range(10)]
    select = page.find_element(By.ID, "colour-by")
    names = [option.text for option in select.find_elements(By.TAG_NAME, "option")]
    assert names == ["cluster", "views present", "given label", "position", HOSTILE]
    select.send_keys(Keys.END)
    until(page, "return document.querySelectorAll('#plot-embedding .legendtext').length === 2")
    assert page.execute_script(legend) == [HOSTILE, "plain"]
    select.send_keys(Keys.ARROW_UP)
    assert until(page, "return document.querySelectorAll('#plot-embedding .colorbar').length === 1")
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


@pytest.mark.parametrize("width", [360, 1100])
def test_the_page_is_no_wider_than_its_window(driver, report, width):
    show(driver, report, width=width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    wide = (
        "return [...document.querySelectorAll('.main-svg')].filter((s) => s.getBoundingClientRect().right > innerWidth)"
    )
    assert driver.execute_script(wide) == []


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
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = driver.execute_script(folded)
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert before > 0
    assert driver.execute_script(folded) == 0
    assert driver.execute_script("return document.documentElement.dataset.theme") == "light"
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    assert driver.execute_script(folded) == before
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"

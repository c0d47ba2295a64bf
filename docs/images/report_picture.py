"""The picture of the report, report.png: the first two sections of the tour's report, in headless Chromium.

Run: python examples/tour.py tour && python docs/images/report_picture.py tour/found/report.html
Needs selenium, Chromium and its driver (Debian: apt install chromium chromium-driver).
"""

from __future__ import annotations

import base64
import shutil
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

HERE, WIDTH = Path(__file__).parent, 1040


def main(report: str) -> None:
    """Write report.png."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(Path(report).resolve().as_uri())
        ready = "return document.documentElement.dataset.ready === 'true'"
        WebDriverWait(driver, 60).until(lambda page: page.execute_script(ready))
        end = driver.execute_script("return document.getElementById('clusters').getBoundingClientRect().top")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": end - 10, "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (HERE / "report.png").write_bytes(base64.b64decode(shot["data"]))
    finally:
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])

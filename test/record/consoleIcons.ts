/** `node test/record/consoleIcons.ts`: makes the console's icons for telephones from `console/public/icon.svg`. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"

const folder = fileURLToPath(new URL("../../console/public/", import.meta.url))
const drawing = readFileSync(`${folder}icon.svg`, "utf8")

const browser = await chromium.launch({
  executablePath: process.env["REPRISE_TEST_BROWSER"] ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : []
})

/** `scale`: of the drawing within the square; what is around it has the drawing's own colour. */
const make = async (name: string, size: number, scale: number) => {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  const background = scale < 1 ? "#1d4ed8" : "transparent"
  await page.setContent(
    `<style>body{margin:0;display:grid;place-items:center;height:100vh;background:${background}}svg{width:${scale * 100}vw}</style>${drawing}`
  )
  writeFileSync(`${folder}${name}.png`, await page.screenshot({ omitBackground: true }))
  await page.close()
}

await make("icon-192", 192, 1)
await make("icon-512", 512, 1)
// Launchers cut a circle out of it.
await make("icon-maskable-512", 512, 0.8)
await browser.close()

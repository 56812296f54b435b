/** A program and all that it imports in a few files instead of a thousand modules: it starts sooner and runs faster. */
import { writeFileSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Plugin } from "rolldown"

/** Each module keeps its own `import.meta.url`, from which it resolves files and packages. */
const keepLocations: Plugin = {
  name: "keep-locations",
  transform: {
    filter: { code: /import\.meta\.url/ },
    handler: (code, id) => code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
  }
}

/** Writes the bundle of the program whose first file is `entry`; gives its path in `directory`. */
export const bundleProgram = async (entry: string, directory: string): Promise<string> => {
  const name = basename(entry, extname(entry))
  // Native code, which only this process needs.
  const { build } = await import("rolldown")
  await build({
    input: { [name]: entry },
    platform: "node",
    // Ink's tools for its own developers, which nobody here has.
    external: ["react-devtools-core"],
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [keepLocations],
    output: { dir: directory, format: "esm", minify: { compress: false, mangle: false } }
  })
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }')
  return join(directory, `${name}.js`)
}

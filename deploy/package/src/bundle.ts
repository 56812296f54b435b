/** The command and everything that it imports, in a few files. Agents are not among them: they are found, or installed later. */
import { join, relative } from "node:path"
import { build, type Plugin } from "rolldown"

/** Installed beside Reprise by whoever wants them, or found elsewhere. */
export const agents = ["opencode-ai", "@anthropic-ai/claude-agent-sdk"] as const

/** The folder of the bundle in the package. */
export const code = "bin"

/**
 * A module finds files and packages from its own place. In the package it keeps that place, as if the repository's root
 * were the package: so `nats.conf` is found where it is, and a package where npm puts it.
 */
const keepPlaces = (root: string): Plugin => ({
  name: "keep-places",
  transform: {
    filter: { code: /import\.meta\.url/ },
    handler: (text, id) => {
      const place = `new URL(${JSON.stringify(join("..", relative(root, id)))}, import.meta.url).href`
      return text.replaceAll("import.meta.url", id.includes("node_modules") ? "import.meta.url" : place)
    }
  }
})

/** Writes the bundle into `folder`, and returns the files whose code is in it. */
export const bundle = async (root: string, folder: string): Promise<ReadonlyArray<string>> => {
  const { output } = await build({
    cwd: root,
    input: {
      reprise: join(root, "cli/bin/reprise.js"),
      planThread: join(root, "cli/src/flows/console/planThread.ts"),
      starterProcess: join(root, "libs/process/src/starterProcess.ts")
    },
    platform: "node",
    // The last: Ink's tools for its own developers, which nobody here has.
    external: [...agents, "react-devtools-core"],
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [keepPlaces(root)],
    output: {
      dir: join(folder, code),
      format: "esm",
      // Names are kept: they are in the traces that users send.
      minify: { compress: true, mangle: false },
      comments: { legal: true, annotation: false, jsdoc: false }
    }
  })
  return output.flatMap((chunk) => (chunk.type === "chunk" ? Object.keys(chunk.modules) : []))
}

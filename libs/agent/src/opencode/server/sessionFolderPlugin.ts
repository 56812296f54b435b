/**
 * A plugin that tells each command of OpenCode the folder of its session. The sandbox goes by it: where a command begins is
 * the agent's choice. Pure.
 */
import { sessionFolder } from "@reprise/sandbox"

export const pluginText = `// Written by Reprise for the OpenCode that it runs. Do not edit.
export const SessionFolder = async ({ directory }) => ({
  "shell.env": async (_, output) => {
    output.env.${sessionFolder} = directory
  }
})
`

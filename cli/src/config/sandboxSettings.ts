/** The rows of the section `sandbox`. */
import { Schema } from "effect"
import { lines, setting, variableNames } from "./settingRows.ts"

export const sandboxSettings = {
  mode: setting(
    Schema.Literals(["auto", "required", "off"]),
    "auto",
    "auto: commands run in the sandbox where it can be used, except those of agents that may do everything. required: always, or not at all. off: never."
  ),
  write: setting(lines, [], "More folders that commands may write: absolute, from ~/, or inside the repository."),
  read: setting(lines, [], "Credentials that commands may read all the same; see 'reprise sandbox explain'."),
  deny: setting(lines, [], "More files and folders that commands may not read."),
  network: setting(
    lines,
    [],
    "Names that the author's commands and quality gates may reach, besides the project's public package registries; *.example.org and name:port are possible."
  ),
  agentWrite: setting(
    lines,
    [],
    "Folders of their own that agents by their command may write in the sandbox, besides those that are known: absolute, or from ~/."
  ),
  agentNetwork: setting(
    lines,
    [],
    "Servers that agents by their command may reach in the sandbox in every role, such as their model's, besides those that are known. Those of this machine with their port: localhost:11434."
  ),
  agentEnvironment: setting(
    variableNames,
    [],
    "Variables that agents by their command get in the sandbox although their names look like secrets, such as the key of their model's vendor."
  ),
  gates: setting(Schema.Boolean, true, "Run quality gates and workspace.postCreate in the sandbox too.")
}

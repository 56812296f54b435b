export { acpAgentSettings } from "./acpAgentSettings.ts"
export { claudeSettings, openCodeConfig, openCodeFolders, openCodeSettings } from "./agentSettings.ts"
export { decodeScript, readScript, ScriptError } from "./script/readScript.ts"
export { type Kind, type Match, type Rule, Script, type ScriptInput, type Step } from "./script/Script.ts"
export { CallRecord } from "./server/CallRecord.ts"
export {
  ScriptedModel,
  type ScriptedModelHandle,
  type ScriptedModelOptions,
  startScriptedModel
} from "./server/ScriptedModel.ts"

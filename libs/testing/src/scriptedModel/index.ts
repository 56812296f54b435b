export { claudeSettings, openCodeSettings } from "./agentSettings.ts"
export { CallRecord } from "./CallRecord.ts"
export { decodeScript, readScript, ScriptError } from "./decodeScript.ts"
export { type Kind, type Match, type Rule, Script, type ScriptInput, type Step } from "./Script.ts"
export {
  ScriptedModel,
  type ScriptedModelHandle,
  type ScriptedModelOptions,
  startScriptedModel
} from "./ScriptedModel.ts"

/** Variables that several templates have: what the plan says of a phase. */
export const planVariables = {
  plan_path: "Path of the plan in the workspace.",
  phase: "The phase's number.",
  tasks: "The phase's tasks, one a line.",
  completion_gate: "Empty, or an empty line and what the plan says that completes the phase."
} as const

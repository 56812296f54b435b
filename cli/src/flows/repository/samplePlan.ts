/** The plan that `reprise init --plan` begins with: it can be run as it is, and shows each part that a plan may have. Pure. */

export const samplePlanFile = "PLAN.md"

/** `gate`: the command that checks the repository, if one was found. */
export const samplePlan = (gate: string | undefined): string => `# What this plan is to reach

Say here, in your own words, what is to be built and why. Agents read the whole file.
'reprise validate ${samplePlanFile}' shows the phases and tasks that Reprise reads in it.

## Phase 1: Prepare

- [ ] T1 Describe in \`docs/notes.md\` how this repository is built, tested and laid out
- [ ] T2 Propose there the smallest change that leads to the goal (checkpoint: decision)

**Completion gate:** ${gate === undefined ? "the notes name every folder at the top" : `\`${gate}\` passes`}.

## Phase 2: Build

- [ ] T3 Make the change that was chosen, with tests
- [ ] T4 Show how to try it (checkpoint: human-verify)
`

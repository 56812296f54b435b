import { Broker } from "./broker/Broker.ts"

/**
 * Waits until nothing is under way: every command, event and piece of work is settled, and none led to another.
 * Timers that are not due do not count. For tests.
 */
export const drain = Broker.use((broker) => broker.settled)

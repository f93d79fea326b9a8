/** What an API server says, read without a client: for a process that only relays and shows it. */
export { EXEC_CHANNELS, EXEC_PROTOCOLS, canEndInput, encodeResize, readExecEnd } from './exec-protocol.ts';
export { conditionOf, countAt, fieldAt, hasCondition, isRecord, recordsAt, textAt } from './fields.ts';
export { parseQuantity } from './quantity.ts';

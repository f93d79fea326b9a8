/** Parsers for API server responses without the client, for processes that only relay and display them. */
export {
  EXEC_CHANNELS,
  EXEC_PROTOCOLS,
  canEndInput,
  encodeResize,
  readExecEnd,
  type ExecEnd,
} from './exec-protocol.ts';
export { findCondition, countAt, fieldAt, hasCondition, isRecord, recordsAt, textAt } from './fields.ts';
export { parseQuantity } from './quantity.ts';

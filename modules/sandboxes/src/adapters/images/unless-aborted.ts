export { unlessAborted } from '@svc/runtime';

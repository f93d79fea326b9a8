import { parentPort } from 'node:worker_threads';
import type { ScreenOrder } from './screen-messages.ts';
import { ScreenShelf } from './screen-shelf.ts';

/** A thread of its own: what terminals show is parsed at some ten megabytes in a second, and nobody vouches for it. */
const shelf = new ScreenShelf(() => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
});
parentPort?.on('message', (order: ScreenOrder) => {
  const answer = shelf.obey(order);
  if (answer !== null) parentPort?.postMessage(answer);
});

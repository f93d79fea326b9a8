import { parentPort, workerData } from 'node:worker_threads';
import { OrderTurns } from './order-turns.ts';
import type { ScreenOrder } from './screen-messages.ts';
import { ScreenShelf } from './screen-shelf.ts';

/** A thread of its own: what terminals show is parsed at some ten megabytes in a second, and nobody vouches for it. */
const shelf = new ScreenShelf(() => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
});
/** Whose order is obeyed, for the platform to know when this thread dies of it. */
const current = new Int32Array(workerData as SharedArrayBuffer); // what `ScreenThread` gave it
const turns = new OrderTurns((order) => {
  current[0] = order.screen;
  const answer = shelf.obey(order);
  current[0] = 0;
  if (answer !== null) parentPort?.postMessage(answer);
}, setImmediate);
parentPort?.on('message', (order: ScreenOrder) => turns.add(order));

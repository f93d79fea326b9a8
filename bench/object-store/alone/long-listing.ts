import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { startSvc, type SvcEngine } from '../engines/svc.ts';
import { fill, makeBucket, putRequests, BUCKET } from '../measures/bucket.ts';
import { runLoad } from '../load/run-load.ts';
import { pageRequests } from '../measures/pages.ts';
import type { Figure } from './figure.ts';

const SMALL = 10_000;
const LARGE = 10_000_000;
const PAGES = 300;

/**
 * Sequential pages of a thousand keys at random positions of a bucket, with ten thousand keys and with ten million. The
 * rows are copied in SQL from one object's row, since uploading them would take an hour.
 */
export async function measureListing(folder: string, say: (line: string) => void): Promise<Figure[]> {
  let engine = await startSvc(folder);
  await makeBucket(engine);
  await fill(engine, putRequests(engine, [keyOf(0)], Buffer.from('x')));
  const figures: Figure[] = [];
  for (const [from, count] of [
    [1, SMALL],
    [SMALL, LARGE],
  ] as const) {
    await engine.stop();
    const startedAt = performance.now();
    multiplyRow(join(folder, 'objects', 'objects.db'), from, count);
    say(`${count} rows are there after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    engine = await startSvc(folder);
    const { medianMs, p99Ms } = await timePages(engine, count);
    say(`a page of ${count} keys: median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`);
    const name = `page of 1,000 keys out of ${count.toLocaleString('en')}`;
    figures.push({ name: `${name}, median`, value: medianMs, unit: 'ms', aim: '<= 20 ms' });
    figures.push({ name: `${name}, 99th percentile`, value: p99Ms, unit: 'ms', aim: '' });
  }
  await engine.stop();
  return figures;
}

function keyOf(index: number): string {
  return `k/${String(index).padStart(9, '0')}`;
}

async function timePages(engine: SvcEngine, count: number): Promise<{ medianMs: number; p99Ms: number }> {
  const starts = Array.from({ length: PAGES }, (_, index) => keyOf((index * 7_368_787) % (count - 1_000)));
  const requests = pageRequests(engine, BUCKET, starts);
  const options = { endpoint: engine.endpoint, connections: 1, milliseconds: 60_000, repeat: false };
  await runLoad(requests.slice(0, 20), options); // the first pages compile the code
  return runLoad(requests, options);
}

/** Copies the row of key 0, whatever its columns, to the keys from `from` up to `count`. */
function multiplyRow(file: string, from: number, count: number): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -400000');
    const columns = database.prepare("select name from pragma_table_info('object')").all();
    const names = columns.map((column) => String(column['name']));
    const values = names.map((name) => {
      if (name === 'key') return "printf('k/%09d', n.value)";
      if (name === 'inline_id') return 'null'; // their content is never read
      return `o."${name}"`;
    });
    database.exec(`
      with recursive n(value) as (select ${from} union all select value + 1 from n where value + 1 < ${count})
      insert into object (${names.map((name) => `"${name}"`).join(', ')})
      select ${values.join(', ')} from n, (select * from object where key = '${keyOf(0)}') as o`);
    database.exec('pragma wal_checkpoint(truncate)');
  } finally {
    database.close();
  }
}

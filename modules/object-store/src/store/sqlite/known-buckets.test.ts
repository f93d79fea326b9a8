import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { all, change } from '../program.ts';
import { KnownBuckets } from './known-buckets.ts';
import { SqliteSession } from './session.ts';

describe('KnownBuckets', () => {
  it('reads a bucket once, and again after it is forgotten', () => {
    const buckets = new KnownBuckets();
    const first = { name: 'photos' } as BucketRecord; // only its identity matters here
    const second = { name: 'photos' } as BucketRecord;
    expect(buckets.find('photos', () => first)).toBe(first);
    expect(buckets.find('photos', () => second)).toBe(first);
    buckets.forget();
    expect(buckets.find('photos', () => second)).toBe(second);
  });

  it('does not cache that a bucket is missing', () => {
    const buckets = new KnownBuckets();
    const made = { name: 'photos' } as BucketRecord; // as above
    expect(buckets.find('photos', () => null)).toBeNull();
    expect(buckets.find('photos', () => made)).toBe(made);
  });

  it('detects every write to the bucket table, and to no other', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('create table bucket (name text); create table bucket_usage (name text)');
    const session = new SqliteSession(database);
    const changes = (text: string): boolean => {
      session.run(change(text));
      return session.takeBucketsChanged();
    };
    expect(changes(`insert into bucket (name) values ('a')`)).toBe(true);
    expect(changes(`update bucket set name = 'b'`)).toBe(true);
    expect(changes(`insert into bucket_usage (name) values ('a')`)).toBe(false);
    expect(changes('update bucket_usage set name = (select max(name) from bucket)')).toBe(true); // false positive
    expect(changes('delete from bucket')).toBe(true);
    session.run(all('select name from bucket'));
    expect(session.takeBucketsChanged()).toBe(false);
    database.close();
  });
});

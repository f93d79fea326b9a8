import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.ts';

function createTable(...routes: [methods: string | string[], path: string][]): RouteTable {
  const table = new RouteTable();
  for (const [methods, path] of routes) table.add(methods, path);
  return table;
}

describe('RouteTable', () => {
  it('knows the methods of fixed paths, with and without a slash at the end', () => {
    const table = createTable(['GET', '/a/b'], [['PUT', 'POST'], '/a/b/'], ['get', '/']);
    expect(table.methodsOf('/a/b')).toEqual(['GET', 'POST', 'PUT']);
    expect(table.methodsOf('/a/b/')).toEqual(['GET', 'POST', 'PUT']);
    expect(table.methodsOf('/a')).toEqual([]);
    expect(table.methodsOf('/')).toEqual(['GET']);
  });

  it('gathers what fixed and variable paths answer together', () => {
    const table = createTable(['GET', '/a/:id'], ['POST', '/a/new'], ['DELETE', '/:kind/new']);
    expect(table.methodsOf('/a/new')).toEqual(['DELETE', 'GET', 'POST']);
    expect(table.methodsOf('/a/other')).toEqual(['GET']);
    expect(table.methodsOf('/b/other')).toEqual([]);
  });

  it('takes the rest of a path under a star', () => {
    const table = createTable(['GET', '/files/*'], ['PUT', '/files/:id']);
    expect(table.methodsOf('/files/a/b/c')).toEqual(['GET']);
    expect(table.methodsOf('/files/a')).toEqual(['GET', 'PUT']);
    expect(table.methodsOf('/file')).toEqual([]);
  });
});

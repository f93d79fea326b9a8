import { describe, expect, it } from 'vitest';
import { filterCommands, type Command } from './commands.ts';

const command = (label: string, kind = 'Page'): Command => ({ id: label, label, kind, run: () => undefined });
const commands = [command('Overview'), command('API tokens'), command('New API token', 'Action'), command('Teams')];
const labels = (query: string): string[] => filterCommands(commands, query).map(({ label }) => label);

describe('the command palette', () => {
  it('shows all commands before anything is typed', () => {
    expect(labels('  ')).toHaveLength(commands.length);
  });

  it('matches every word, in any order', () => {
    expect(labels('token new')).toEqual(['New API token']);
  });

  it('also matches the kind', () => {
    expect(labels('action')).toEqual(['New API token']);
  });

  it('ranks matches at the start of a word first', () => {
    expect(labels('te')).toEqual(['Teams']);
    expect(labels('api')).toEqual(['API tokens', 'New API token']);
  });

  it('finds nothing without a match', () => {
    expect(labels('nowhere')).toEqual([]);
  });
});

import styles from './name-list.module.css';

const MOST_NAMES = 8;

/** What a dialog is about to change, by name; a long list is cut. Empty for a single name, which the title has. */
export function NameList({ names }: { names: readonly string[] }) {
  if (names.length < 2) return null;
  const hidden = names.length - MOST_NAMES;
  return (
    <ul className={styles['names']}>
      {names.slice(0, MOST_NAMES).map((name) => (
        <li key={name}>{name}</li>
      ))}
      {hidden > 0 && <li className={styles['more']}>and {hidden} more</li>}
    </ul>
  );
}

#include <array>
#include <utility>

#include "worker/core/phrases.h"

namespace epilogue {
namespace {

constexpr std::array<std::pair<Phrase, std::string_view>, phrase_count> phrases{{
    {Phrase::finished, "Fertig"},
    {Phrase::with_problems, "mit Problemen"},
    {Phrase::waiting, "Wartet auf dich"},
    {Phrase::error, "Mit einem Fehler beendet"},
    {Phrase::stuck, "Festgefahren"},
    {Phrase::rejected, "Abgelehnt"},
    {Phrase::stopped, "Angehalten"},
    {Phrase::timeout, "Kein Lebenszeichen"},
    {Phrase::gap, "Ausgang unbekannt"},
    {Phrase::gap_cause, "ein Teil des Protokolls ist verloren"},
    {Phrase::unconfirmed, "Wartet auf deine Bestätigung"},
    {Phrase::paused, "Angehalten"},
    {Phrase::paused_until, "es geht weiter, wenn jemand fortfährt"},
    {Phrase::one_file_changed, "1 Datei geändert"},
    {Phrase::files_changed, "{} Dateien geändert"},
    {Phrase::tests_pass, "Tests bestehen"},
    {Phrase::tests_fail, "Tests schlagen fehl"},
    {Phrase::request_made, "Pull Request gestellt"},

    {Phrase::refused, "Der Agent hat die Aufgabe abgelehnt."},
    {Phrase::stopped_early, "Die Unterhaltung wurde angehalten, bevor der Agent fertig war."},
    {Phrase::outcome_unknown, "Vom Agenten kam lange nichts mehr; fertig war er nicht."},
    {Phrase::falls_short, "Der Agent sagt selbst, dass die Aufgabe nicht erledigt ist."},

    {Phrase::goal_capped, "Ziel: nach {} von {} Runden abgebrochen, mehr waren nicht erlaubt"},
    {Phrase::goal_interrupted, "Ziel: nach {} von {} Runden unterbrochen"},
    {Phrase::changed, "Geändert: {}"},
    {Phrase::changed_many, "{} Dateien geändert ({}): {}"},
    {Phrase::created, "neu"},
    {Phrase::deleted, "gelöscht"},
    {Phrase::count_created, "{} neu"},
    {Phrase::count_edited, "{} bearbeitet"},
    {Phrase::count_deleted, "{} gelöscht"},
    {Phrase::more, "{} weitere"},
    {Phrase::committed, "Commit: {} auf {}, nicht gepusht"},
    {Phrase::committed_and_pushed, "Commit und Push: {} auf {}"},
    {Phrase::pushed, "Gepusht: {}"},
    {Phrase::pushed_hash, "Gepusht: {} auf {}"},
    {Phrase::tests, "Tests: {} {}"},
    {Phrase::build, "Build: {} {}"},
    {Phrase::passed, "bestanden"},
    {Phrase::failed, "fehlgeschlagen"},
    {Phrase::failed_with_code, "fehlgeschlagen (Exit-Code {})"},
    {Phrase::no_result, "kein Ergebnis gesehen"},
    {Phrase::fixed, "behoben: schlug vorher fehl"},
    {Phrase::count_passed, "{} bestanden"},
    {Phrase::count_failed, "{} fehlgeschlagen"},
    {Phrase::count_skipped, "{} übersprungen"},
    {Phrase::packages_passed, "{} Pakete bestanden"},
    {Phrase::packages_failed, "{} Pakete fehlgeschlagen"},
    {Phrase::pull_request, "Pull Request: {}"},
    {Phrase::problem, "Problem: {}"},
    {Phrase::editing, "Änderung an {}"},
    {Phrase::reason, "Grund: {}"},
    {Phrase::repeated, "Wiederholt, ohne weiterzukommen: {}"},
    {Phrase::repeated_nothing, "Das Modell des Agenten gab immer wieder keine brauchbare Antwort."},
    {Phrase::last_step, "Letzter gesehener Schritt: {}"},

    {Phrase::next, "Weiter: {}"},
    {Phrase::next_failing,
     "lass den Agenten an dem weiterarbeiten, was fehlschlägt, oder sieh es dir an, bevor du das "
     "Ergebnis nutzt."},
    {Phrase::next_stuck, "sag dem Agenten, was er anders machen soll; dieselbe Bitte würde genauso enden."},
    {Phrase::next_timeout,
     "öffne die Unterhaltung und sieh nach, ob der Agent noch arbeitet; hängt er, halte ihn an und lass "
     "ihn "
     "weitermachen."},
    {Phrase::next_gap, "öffne die Unterhaltung, um zu sehen, wie sie ausging."},

    {Phrase::took, "Aufwand: {}"},
    {Phrase::seconds, "{} s"},
    {Phrase::minutes, "{} min {} s"},
    {Phrase::hours, "{} h {} min"},
    {Phrase::one_step, "1 Schritt"},
    {Phrase::steps, "{} Schritte"},
    {Phrase::tokens, "{} Tokens hinein, {} heraus"},
    {Phrase::cost, "{} $"},
    {Phrase::one_character_cut, "… ({} weiteres Zeichen)"},
    {Phrase::characters_cut, "… ({} weitere Zeichen)"},
    {Phrase::view_conversation, "Zur Unterhaltung"},

    {Phrase::provider_refused_key,
     "Der Anbieter des Modells hat den Schlüssel dieser Installation abgelehnt."},
    {Phrase::provider_limits_rate,
     "Der Anbieter des Modells nimmt vorerst keine Anfragen mehr an: Eine Mengengrenze ist erreicht."},
    {Phrase::provider_away, "Der Anbieter des Modells war nicht erreichbar oder nicht verfügbar."},
    {Phrase::provider_failed, "Beim Anbieter des Modells trat ein Fehler auf."},
    {Phrase::provider_timed_out, "Das Modell hat nicht rechtzeitig geantwortet."},
    {Phrase::provider_refused_request, "Der Anbieter des Modells hat die Anfrage als ungültig abgelehnt."},
    {Phrase::provider_refused_content,
     "Der Anbieter des Modells hat den Inhalt nach seinen Regeln abgelehnt."},
    {Phrase::out_of_credits, "Das Guthaben für das Modell ist aufgebraucht."},
    {Phrase::context_full, "Die Unterhaltung ist für das Modell zu lang geworden."},
    {Phrase::model_answer_unusable, "Die Antwort des Modells war nicht zu gebrauchen."},
    {Phrase::model_silent, "Das Modell hat eine leere Antwort gegeben."},
    {Phrase::iterations_used_up, "Der Agent hat alle Schritte verbraucht, die er in einem Zug machen darf."},
    {Phrase::budget_used_up, "Das Budget dieser Unterhaltung ist aufgebraucht."},
    {Phrase::answer_not_storable,
     "Die Antwort des Modells enthielt Zeichen, die der Agentenserver nicht speichern konnte."},
    {Phrase::sandbox_lost, "Die Verbindung zur Sandbox des Agenten ging verloren."},
    {Phrase::sandbox_out_of_memory, "Der Sandbox des Agenten ging der Speicher aus."},
    {Phrase::too_many_conversations, "Es waren zu viele Unterhaltungen zugleich offen."},
    {Phrase::git_refused_key, "Die Git-Plattform hat den Schlüssel abgelehnt, den der Agent benutzt."},
    {Phrase::cancelled, "Die Arbeit des Agenten wurde abgebrochen."},
    {Phrase::settings_wrong, "Die Einstellungen des Modells funktionieren nicht."},
    {Phrase::context_too_small, "Das Modell nimmt für diesen Agenten zu wenig Text auf einmal."},
    {Phrase::sandbox_not_started, "Die Sandbox des Agenten ließ sich nicht starten."},
    {Phrase::browser_not_started, "Der Browser des Agenten ließ sich nicht starten."},
    {Phrase::tool_away, "Ein Werkzeug des Agenten ließ sich nicht starten oder antwortete nicht."},
    {Phrase::agent_not_started, "Der Agent ließ sich nicht starten."},
    {Phrase::agent_stuck, "Der Agent hat sich wiederholt, ohne weiterzukommen."},
    {Phrase::taken_over, "Ein anderer Agentenserver hat die Unterhaltung übernommen."},
    {Phrase::agent_failed, "Ein Schritt des Agenten schlug fehl."},
    {Phrase::server_failed, "Beim Agentenserver trat ein Fehler auf."},
    {Phrase::error_without_code, "Der Grund ist nicht bekannt."},
    {Phrase::unknown_error, "Ein Fehler, der nicht in unserem Katalog steht: {}."},

    {Phrase::advise_key,
     "die Administration muss den Schlüssel des Modells erneuern; vorher hilft kein neuer Versuch."},
    {Phrase::advise_wait, "warte eine Weile und sag dann dem Agenten, dass er weitermachen soll."},
    {Phrase::advise_credits, "die Administration muss Guthaben kaufen; vorher hilft kein neuer Versuch."},
    {Phrase::advise_budget, "lass das Budget erhöhen, oder stelle den Rest als neue, kleinere Aufgabe."},
    {Phrase::advise_smaller, "stelle den Rest als neue Aufgabe, in kleineren Teilen."},
    {Phrase::advise_go_on,
     "sag dem Agenten, dass er weitermachen soll, wenn er auf dem richtigen Weg war; sonst stelle eine "
     "kleinere "
     "Aufgabe."},
    {Phrase::advise_again, "sag dem Agenten, dass er weitermachen soll; ein neuer Versuch kann helfen."},
    {Phrase::advise_settings,
     "die Administration muss die Einstellungen des Modells ansehen; vorher hilft kein neuer Versuch."},
    {Phrase::advise_content, "stelle die Aufgabe mit anderen Worten; dieselben würden wieder abgelehnt."},
    {Phrase::advise_git, "verbinde das Git-Konto neu und sag dann dem Agenten, dass er weitermachen soll."},
    {Phrase::advise_memory,
     "sag dem Agenten, dass er weniger Speicher auf einmal nutzen soll, oder lass die Sandbox "
     "vergrößern."},
    {Phrase::advise_close,
     "schließe eine Unterhaltung, die du nicht brauchst, und sag dann dem Agenten, dass er weitermachen "
     "soll."},
    {Phrase::advise_agent,
     "die Administration muss die Einstellungen des Agenten ansehen; vorher hilft kein neuer Versuch."},
    {Phrase::advise_look,
     "sag dem Agenten, dass er weitermachen soll; schlägt es wieder fehl, sollte die Administration "
     "nachsehen."},
}};

}  // namespace

const PhraseTable& german_phrases() {
    static const PhraseTable table(phrases.begin(), phrases.end());
    return table;
}

}  // namespace epilogue

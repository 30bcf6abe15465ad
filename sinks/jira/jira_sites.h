// The Jira sites that are configured, and which of them a row means.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sinks/jira/jira_target.h"
#include "sinks/port/http_api.h"
#include "sinks/port/remote_post.h"

namespace epilogue {

/// Where a site is, and with what right we write there.
struct JiraSite {
    std::string api_url;  ///< without "/rest/…"
    std::string email;    ///< with the token, of Cloud; empty: the token is Data Center's
    std::string token;    ///< empty: every write is unauthorised, without a request
};

/// Where a site is configured: "[jira]", "[jira.sites."acme"]".
std::string section_of(const std::string& name);

/// Thread-safe; remembers nothing but who each token makes us.
class JiraSites {
  public:
    /// One site, with what is needed to speak to it.
    struct Access {
        Access(std::string name, JiraSite site, const std::string& version);

        std::string section() const { return section_of(name); }
        bool is_set() const { return !site.token.empty() && !site.api_url.empty(); }

        /// The page on which people read a comment; `self` where the API's address does not tell of it.
        std::string page_of(const JiraTarget& place, const std::string& id, const std::string& self) const;

        const std::string name;  ///< lower case; empty: of rows that name none
        const JiraSite site;
        const HttpApi api;
        OwnAccount me;
    };

    /// `usual` is the site of rows that name none, `named` by what rows call them.
    JiraSites(JiraSite usual, const std::map<std::string, JiraSite>& named, const std::string& version);

    /// The site that a row means; null when it names one that is not configured. A row names a site by its
    /// name here, by its host, as Atlassian does ("acme" of acme.atlassian.net, the cloud's id in an
    /// api.atlassian.com address), or by its URL.
    Access* of(const JiraTarget& place);
    const Access* of(const JiraTarget& place) const;
    /// All of them, the usual one first; that one only where it is set, or none else is.
    std::vector<const Access*> all() const;

  private:
    std::map<std::string, Access> sites_;  // by name in lower case
};

/// What a row calls its site, for people; "" when it names none.
std::string site_named_by(const JiraTarget& place);

}  // namespace epilogue

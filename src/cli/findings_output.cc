#include "cli/findings_output.h"

#include "container/walk.h"
#include "output/markdown.h"
#include "output/sarif.h"

namespace cuproof {

std::string FindingsOutput(const std::string& format, const std::string& command,
                           const std::vector<Finding>& findings,
                           const std::vector<Error>& problems) {
  if (format == "markdown") return FindingsMarkdown("cuproof " + command, findings, problems);
  if (format != "sarif") return {};
  return SarifText(findings, problems, {command, CUPROOF_VERSION, RealPath(".")});
}

}  // namespace cuproof
